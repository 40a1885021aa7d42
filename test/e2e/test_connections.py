"""Clients that cost: many, slow, idle, gone. They take nothing from the jobs."""
import os
import re
import socket
import ssl
import subprocess
import unittest
from pathlib import Path

import raw
from fault import Fault, Wrapped
from pool import Pool, eventually, tfjob
import junit


class Memory(Fault):
    def test_what_many_connections_took_is_given_back(self):
        pool = self.pool()
        context = ssl.create_default_context(cafile=str(pool.data / "pki/ca.crt"))
        memory = lambda: int(next(line.split()[1] for line in open(f"/proc/{pool.server.pid}/status") if "VmRSS" in line))

        def connected():
            connection = context.wrap_socket(socket.create_connection(raw.address(pool)), server_hostname="127.0.0.1")
            connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertTrue(connection.recv(100))
            return connection

        def come_and_go(count):
            many = [connected() for _ in range(count)]
            most = memory()
            for connection in many:
                connection.close()
            return most
        come_and_go(100)  # what is needed once is there
        before = memory()
        self.assertLess(come_and_go(400) - before, 400 * 130, "KiB")
        eventually("it is the machine's again", lambda: memory() - before < 400 * 20, 20)


class Clients(Fault):
    def test_slow_watchers_and_idle_connections_cost_little(self):
        pool = self.pool()
        raw.create(pool, tfjob("big", ["true"], workers=9))
        before = raw.memory_mb(pool)
        watchers = []
        for _ in range(5):
            plain = socket.create_connection(raw.address(pool))
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            watchers.append(raw.trusting().wrap_socket(plain))
            watchers[-1].sendall(f"GET {raw.JOBS}?watch=1 HTTP/1.1\r\nHost: x\r\n"
                                 f"Authorization: Bearer {raw.admin(pool)}\r\n\r\n".encode())
        idle = [socket.create_connection(raw.address(pool)) for _ in range(1000)]
        connection = raw.connect(pool)
        for index in range(300):
            patch = {"metadata": {"annotations": {"text": "x" * 100000, "index": str(index)}}}
            self.assertEqual(raw.ask(pool, "PATCH", f"{raw.JOBS}/big", patch, raw.MERGE, connection=connection)[0], 200)
        self.assertEqual(raw.ask(pool, "GET", "/readyz")[0], 200)
        # Five watchers of 30 MB each, and a thousand connections, are not kept in memory.
        self.assertLess(raw.memory_mb(pool) - before, 150)
        for one in watchers + idle:
            one.close()
        mine = lambda: len(os.listdir(f"/proc/{pool.server.pid}/fd"))
        eventually("their descriptors are given back", lambda: mine() < 200, 20)

    def test_connections_take_no_files_from_the_pool(self):
        """As many as the process may have files: jobs start all the same, and people get through when some leave."""
        pool = self.pool(Wrapped("prlimit", "--nofile=256:256"))
        admin = raw.connect(pool)
        self.assertEqual(raw.ask(pool, "GET", "/readyz", connection=admin)[0], 200)
        idle = []
        for _ in range(400):
            idle.append(socket.create_connection(raw.address(pool)))
        for index in range(4):
            self.assertEqual(raw.create(pool, tfjob(f"job-{index}", ["true"]), connection=admin)[0], 201)
        done = lambda: [raw.ask(pool, "GET", f"{raw.JOBS}/job-{i}", connection=admin)[1]["status"]["conditions"][-1]["type"]
                        for i in range(4)]
        eventually("all succeed", lambda: done() == ["Succeeded"] * 4, 20)
        for one in idle:
            one.close()
        eventually("newcomers get through", lambda: pool.kubectl("get", "tfjobs", check=False).returncode == 0, 20)
        self.assertLess(raw.log_of(pool).count("could not be accepted"), 20)

    def test_a_certificate_that_expires_is_renewed_while_the_server_runs(self):
        pool = self.pool()
        pki = pool.data / "pki"
        served = lambda: subprocess.run(
            ["openssl", "x509", "-noout", "-enddate", "-serial"], text=True, check=True, stdout=subprocess.PIPE,
            input=ssl.get_server_certificate(raw.address(pool))).stdout
        first = served()
        request = pool.run("openssl", "req", "-new", "-key", str(pki / "server.key"), "-subj", "/CN=pondage").stdout
        short = pool.run("openssl", "x509", "-req", "-days", "2", "-CA", str(pki / "ca.crt"), "-CAkey",
                         str(pki / "ca.key"), "-CAcreateserial", input=request).stdout
        (pki / "server.crt").write_text(short)
        eventually("another certificate", lambda: served() != first, 15)
        pool.run("openssl", "x509", "-noout", "-checkend", str(300 * 86400), "-in", str(pki / "server.crt"))
        self.assertEqual(pool.kubectl("get", "tfjobs", check=False).returncode, 0, "kubectl trusts it")


def connects_as(pool, name, to=None):
    """Who trusts the pool's authority reaches it by that name."""
    context = ssl.create_default_context(cafile=str(pool.data / "pki/ca.crt"))
    connection = socket.create_connection((to or "127.0.0.1", raw.address(pool)[1]))
    try:
        context.wrap_socket(connection, server_hostname=name).close()
    except ssl.SSLCertVerificationError:
        return False
    finally:
        connection.close()
    return True


def own_addresses():
    """Of this machine's interfaces, without loopback; the kernel's list, IPv4."""
    table = Path("/proc/net/fib_trie").read_text()
    found = set(re.findall(r"\|-- ([\d.]+)\n\s+/32 host LOCAL", table))
    return {address for address in found if not address.startswith("127.")}


class Elsewhere(unittest.TestCase):
    """Not by 127.0.0.1: what other machines use."""

    def pool(self, *flags, **more):
        pool = Pool(*flags, **more)
        self.addCleanup(pool.__exit__)
        pool.start()
        return pool

    def token_file(self, pool):
        path = pool.root / "li.kubeconfig"
        path.unlink(missing_ok=True)
        pool.pondage("token", "revoke", "li", check=False)
        pool.pondage("token", "create", "li", "--write", str(path))
        return path

    def server_in(self, path):
        return re.search(r"server: *\"?(https://[^\s\"]+)", path.read_text()).group(1)

    def asks(self, pool, path, *flags):
        return pool.kubectl("get", "tfjobs", *flags, env={"KUBECONFIG": str(path)}, check=False)

    def test_all_addresses_are_in_the_certificate_and_a_token_file_names_the_machine(self):
        pool = self.pool(listen="0.0.0.0:0")
        host, port = socket.gethostname().lower(), raw.address(pool)[1]
        for name in {"localhost", "127.0.0.1", "::1", host} | own_addresses():
            self.assertTrue(connects_as(pool, name), name)
        for address in own_addresses():
            self.assertTrue(connects_as(pool, address, to=address), address)
        self.assertFalse(connects_as(pool, "192.0.2.7"), "nobody's address (RFC 5737)")
        self.assertEqual(pool.kubectl("get", "tfjobs", check=False).returncode, 0)
        path = self.token_file(pool)
        self.assertEqual(self.server_in(path), f"https://{host}:{port}")
        done = self.asks(pool, path, f"--server=https://127.0.0.1:{port}", f"--tls-server-name={host}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"listens beyond this machine, on 0.0.0.0; kubeconfigs that", pool.log())
        self.assertIn(f"https://{host}:{port}", pool.log())

    def test_kubectl_by_another_address_than_the_first(self):
        pool = self.pool("--advertise", "127.0.0.2", listen="0.0.0.0:0")
        path = self.token_file(pool)
        self.assertEqual(self.server_in(path), f"https://127.0.0.2:{raw.address(pool)[1]}")
        done = self.asks(pool, path)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_another_name_brings_another_certificate_of_the_same_authority(self):
        pool = self.pool()
        authority = (pool.data / "pki/ca.crt").read_text()
        self.assertNotIn("beyond this machine", pool.log())
        self.assertEqual(self.server_in(self.token_file(pool)), (pool.data / "address").read_text().strip())
        for flag, name, url in (("gpu1.lab.example", "gpu1.lab.example", "https://gpu1.lab.example:{}"),
                                ("[2001:db8::7]:7443", "2001:db8::7", "https://[2001:db8::7]:7443")):
            with self.subTest(flag):
                self.assertFalse(connects_as(pool, name))
                pool.stop()
                pool.flags = ["--virtual-gpus", "4", "--advertise", flag]
                pool.start()
                self.assertTrue(connects_as(pool, name))
                self.assertEqual((pool.data / "pki/ca.crt").read_text(), authority)
                self.assertEqual(self.server_in(self.token_file(pool)), url.format(raw.address(pool)[1]))

    def test_a_name_that_is_none_is_refused(self):
        for wrong in ("https://gpu1", "gpu 1", "gpu1:0", "gpu1:65536", "gpu1:x", "a,DNS:b", "[::1", "::1]:5", ":7443", "1::2::3"):
            with self.subTest(wrong):
                place = Pool()
                self.addCleanup(place.__exit__)
                done = place.pondage("serve", "--data", place.data, "--listen", "127.0.0.1:0", "--virtual-gpus", "1",
                                     f"--advertise={wrong}", check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertFalse(place.data.exists())


if __name__ == "__main__":
    junit.main()
