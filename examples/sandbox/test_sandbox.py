"""Run it with: npx @parlance/server sandbox -- python3 -m unittest test_sandbox.py"""
import json, os, socket, time, unittest, urllib.error, urllib.parse, urllib.request

BASE = os.environ["OPENAI_BASE_URL"]


def post(path, body, content_type="application/json", **headers):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(BASE + path, data, {"Content-Type": content_type, **headers})
    return urllib.request.urlopen(request, timeout=5).read()


def ask(content, **headers):
    messages = [{"role": "user", "content": content}]
    tools = [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}]
    answer = post("/chat/completions", {"model": "sandbox-chat", "messages": messages, "tools": tools}, **headers)
    return json.loads(answer)["choices"][0]["message"]


class SandboxTest(unittest.TestCase):
    def test_dictation(self):
        request = {"model": "tts-1", "voice": "alloy", "input": "Good morning.", "response_format": "wav"}
        part = b'--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
        sound = part % (b"file", b'; filename="speech.wav"', post("/audio/speech", request))
        form = sound + part % (b"model", b"", b"whisper-1") + b"--x--\r\n"
        answer = json.loads(post("/audio/transcriptions", form, "multipart/form-data; boundary=x"))
        self.assertEqual(answer["text"], "Good morning.")

    def test_tool_call(self):
        [call] = ask('call look_up {"city": "Paris"}')["tool_calls"]
        self.assertEqual(json.loads(call["function"]["arguments"]), {"city": "Paris"})

    def test_retry(self):
        try:
            ask("say: Hello", Prefer="code=429")
        except urllib.error.HTTPError as error:
            with error:
                time.sleep(int(error.headers["Retry-After"]))
        self.assertEqual(ask("say: Hello")["content"], "Hello")

    def test_stall(self):
        with self.assertRaises(TimeoutError):
            ask("say: Hello", Prefer="stall=60")

    def test_closed_socket(self):
        url = urllib.parse.urlsplit(BASE)
        path = "/v1/realtime?intent=transcription&prefer=close%3D1012,after%3D3"
        upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        head = f"GET {path} HTTP/1.1\r\nHost: {url.netloc}\r\n{upgrade}Sec-WebSocket-Key: {'A' * 22}==\r\n\r\n"
        update = b'{"type": "session.update", "session": {"type": "transcription"}}'
        with socket.create_connection((url.hostname, url.port), 5) as connection, connection.makefile("rb") as reader:
            connection.sendall(head.encode() + 2 * (bytes([0x81, 0x80 + len(update), 0, 0, 0, 0]) + update))
            while reader.readline() != b"\r\n": pass
            events = 0
            while reader.read(1) == b"\x81":
                length = reader.read(1)[0]
                reader.read(int.from_bytes(reader.read(2), "big") if length == 126 else length)
                events += 1
            self.assertEqual((events, reader.read(3)[1:]), (3, (1012).to_bytes(2, "big")))
