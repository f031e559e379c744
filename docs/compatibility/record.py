"""A server in front of the server: passes everything on and writes down what came.

    record.py PORT TARGET LOG

LOG gets a JSON line for each request: its arrival in seconds on a clock of its own, method, path, headers and body.
With COMPAT_NO_TOKENIZE set, /tokenize answers 404, as servers without it do.
"""

import asyncio
import json
import os
import sys
import time

import aiohttp
from aiohttp import web

SKIP = {"host", "content-length", "transfer-encoding", "connection"}


def main():
    port, target, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    log = open(path, "w", buffering=1)

    async def pass_on(request):
        at = time.perf_counter()
        body = await request.read()
        row = {"at": at, "method": request.method, "path": request.path, "headers": list(request.headers.items())}
        log.write(json.dumps({**row, "body": body.decode("utf-8", "surrogateescape")}) + "\n")
        if request.path == "/tokenize" and os.environ.get("COMPAT_NO_TOKENIZE"):
            return web.json_response({"detail": "Not Found"}, status=404)
        headers = {k: v for k, v in request.headers.items() if k.lower() not in SKIP}
        async with session.request(
            request.method, target + request.path_qs, headers=headers, data=body or None
        ) as answer:
            out = web.StreamResponse(
                status=answer.status, headers={k: v for k, v in answer.headers.items() if k.lower() == "content-type"}
            )
            await out.prepare(request)
            async for chunk in answer.content.iter_any():
                await out.write(chunk)
            await out.write_eof()
            return out

    async def serve():
        nonlocal session
        connector = aiohttp.TCPConnector(limit=0)
        session = aiohttp.ClientSession(connector=connector, auto_decompress=False, timeout=aiohttp.ClientTimeout())
        app = web.Application(client_max_size=1 << 30)
        app.router.add_route("*", "/{any:.*}", pass_on)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        print("ready", flush=True)
        await asyncio.Event().wait()

    session = None
    try:
        asyncio.run(serve())
    except KeyboardInterrupt:
        pass


main()
