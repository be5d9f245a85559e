#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/token_server.py - a token server as public registries have one, for docker-registry's `auth: token`.
#
# GET /token?service=S&scope=repository:NAME:pull,push with basic credentials gives a JWT (RS256, certificate in the
# header's x5c) for exactly the scopes asked for; without credentials for `pull` only when --anonymous-pull is given.
# Prints its URL once it listens. Signing is openssl's, so that no Python module beyond the standard library is needed.

import argparse
import base64
import http.server
import json
import ssl
import subprocess
import time
import urllib.parse
import uuid


def url64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def der_of(certificate):
    done = subprocess.run(["openssl", "x509", "-in", certificate, "-outform", "DER"], check=True, capture_output=True)
    return done.stdout


def signed_token(options, account, access):
    """Returns the JWT in its compact form, valid for one minute from now."""
    now = int(time.time())
    header = {"typ": "JWT", "alg": "RS256", "x5c": [base64.b64encode(der_of(options.cert)).decode()]}
    claims = {"iss": options.service, "sub": account, "aud": options.service, "iat": now, "nbf": now - 5,
              "exp": now + options.seconds, "jti": uuid.uuid4().hex, "access": access}
    text = ".".join(url64(json.dumps(part).encode()) for part in (header, claims))
    done = subprocess.run(["openssl", "dgst", "-sha256", "-sign", options.key], input=text.encode(), check=True,
                          capture_output=True)
    return f"{text}.{url64(done.stdout)}"


def access_of(scopes, allowed):
    """Returns the `access` claim for scopes like `repository:team/name:pull,push`, without actions that are not
    allowed."""
    access = []
    for scope in " ".join(scopes).split():
        kind, _, rest = scope.partition(":")
        name, _, actions = rest.rpartition(":")
        access.append({"type": kind, "name": name, "actions": [a for a in actions.split(",") if a in allowed]})
    return access


class Handler(http.server.BaseHTTPRequestHandler):
    options = None

    def account(self):
        """Returns the user of the request's credentials, "" without credentials, None for wrong ones."""
        header = self.headers.get("Authorization", "")
        if not header:
            return ""
        given = base64.b64decode(header.removeprefix("Basic ")).decode()
        return given.partition(":")[0] if given == self.options.user else None

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        url = urllib.parse.urlparse(self.path)
        query = urllib.parse.parse_qs(url.query)
        account = self.account()
        if url.path != "/token" or query.get("service") != [self.options.service]:
            self.answer(404, {"details": "no such service"})
        elif account is None or (account == "" and not self.options.anonymous_pull):
            self.answer(401, {"details": "incorrect username or password"})
        else:
            allowed = {"pull", "push", "delete", "*"} if account else {"pull"}
            token = signed_token(self.options, account, access_of(query.get("scope", []), allowed))
            issued = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            self.answer(200, {"token": token, "expires_in": self.options.seconds, "issued_at": issued})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--user", required=True, help="NAME:PASSWORD")
    parser.add_argument("--service", required=True, help="also the issuer")
    parser.add_argument("--key", required=True)
    parser.add_argument("--cert", required=True)
    parser.add_argument("--seconds", type=int, default=60, help="how long a token is good")
    parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"))
    parser.add_argument("--anonymous-pull", action="store_true")
    Handler.options = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if Handler.options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*Handler.options.tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    scheme = "https" if Handler.options.tls else "http"
    print(f"{scheme}://127.0.0.1:{server.server_port}/token", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
