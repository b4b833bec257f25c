"""The MCP door: two read-only tools, typed, with clear errors; stdout carries only the protocol."""

import json
import os
import sys
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ToolError

from orgmem.serve.answer import ADVISORY
from orgmem.serve.mcp import build_server
from orgmem.serve.retrieve import Question
from orgmem.settings import Settings
from tests.serve.test_retrieve import about, ids, retriever

QUERIES = ("handle the backup", "deploy", "linter script of the shop", "how do I handle it?")


@pytest.fixture
def client(settings: Settings) -> Client[Any]:
    memories = [about(subject) for subject in ("deploy", "backup", "linter")]
    return Client(build_server(retriever(settings, memories)))


async def test_both_tools_say_that_they_only_read_and_what_they_return(client: Client[Any]) -> None:
    async with client:
        tools = {tool.name: tool for tool in await client.list_tools()}
    assert set(tools) == {"query", "read_memory"}
    for tool in tools.values():
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert tool.annotations.open_world_hint is False
        assert tool.output_schema is not None
    assert set(tools["query"].input_schema["properties"]) == {
        "question",
        "mode",
        "project",
        "tags",
        "limit",
        "budget_tokens",
    }
    assert tools["query"].input_schema["required"] == ["question"]
    assert set(tools["read_memory"].input_schema["properties"]) == {"ids", "follow_links"}


async def test_a_query_gives_the_memories_that_the_retriever_gives(
    client: Client[Any], settings: Settings
) -> None:
    async with client:
        for text in QUERIES:
            answer = (await client.call_tool("query", {"question": text, "limit": 2})).structured_content
            assert answer is not None
            expected = ids(retriever(settings).search(Question(text, limit=2)))
            assert [found["id"] for found in answer["results"]] == expected
            assert expected


async def test_an_answer_says_that_it_is_data(client: Client[Any]) -> None:
    async with client:
        answer = (await client.call_tool("query", {"question": "deploy"})).structured_content
        assert answer is not None
        assert answer["notice"] == ADVISORY
        read = (
            await client.call_tool("read_memory", {"ids": [answer["results"][0]["id"], "mem_x"]})
        ).structured_content
    assert read is not None
    assert read["notice"] == ADVISORY
    assert read["missing"] == ["mem_x"]
    assert len(read["memories"]) == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("query", {"question": " "}, "the query is empty"),
        ("query", {"question": "x", "limit": 51}, "limit must be 1 to 50, not 51"),
        ("query", {"question": "x", "mode": "deep"}, "fast only"),
        ("query", {"question": "x", "tags": ["nope"]}, "unknown tag 'nope'"),
        ("query", {}, "question"),
        ("query", {"question": "x", "limit": "many"}, "limit"),
        ("read_memory", {"ids": []}, "1 to 50"),
    ],
)
async def test_bad_arguments_are_told_in_words(
    client: Client[Any], tool: str, arguments: dict[str, Any], said: str
) -> None:
    async with client:
        with pytest.raises(ToolError, match=said):
            await client.call_tool(tool, arguments)


async def test_an_assistant_can_start_the_server_and_ask_over_stdio(settings: Settings) -> None:
    deploy = about("deploy")
    retriever(settings, [deploy])
    command = "from orgmem.cli.search import mcp; mcp()"
    environment = {**os.environ, "ORGMEM_HOME": str(settings.home)}
    transport = StdioTransport(sys.executable, ["-c", command], env=environment, keep_alive=False)
    async with Client(transport, timeout=60, init_timeout=60) as client:
        assert {tool.name for tool in await client.list_tools()} == {"query", "read_memory"}
        answer = (await client.call_tool("read_memory", {"ids": [deploy.id]})).structured_content
        assert answer is not None
        assert [memory["id"] for memory in answer["memories"]] == [deploy.id]
        with pytest.raises(ToolError, match="the query is empty"):
            await client.call_tool("query", {"question": ""})


async def test_stdout_carries_nothing_but_the_protocol(settings: Settings) -> None:
    import asyncio

    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from orgmem.cli.search import mcp; mcp()",
        env={**os.environ, "ORGMEM_HOME": str(settings.home)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(hello).encode() + b"\n")
        await process.stdin.drain()
        first = json.loads(await asyncio.wait_for(process.stdout.readline(), 60))
        process.stdin.close()
        rest = await asyncio.wait_for(process.stdout.read(), 60)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
    assert first["result"]["serverInfo"]["name"] == "orgmem"
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines() if line)
    assert not settings.tables.exists()
