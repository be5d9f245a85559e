# SPDX-License-Identifier: Apache-2.0
# tests/e2e/kube_certificates.py - a certificate authority for one cluster, made by openssl.
"""    authority = Authority(folder)
    certificate, key = authority.issue("kubelet", "/O=system:nodes/CN=system:node:node-1", "DNS:node-1,IP:127.0.0.1")

A certificate serves its owner as a client, and as a server where it has names."""

from slipway_host import must


class Authority:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.certificate, self._key = folder / "ca.crt", folder / "ca.key"
        must(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self._key, "-out", self.certificate,
              "-subj", "/CN=slipway-e2e", "-days", "2", "-addext", "keyUsage=critical,keyCertSign,digitalSignature"])

    def issue(self, name, subject, names=""):
        """Returns the files of a certificate and its key. names: "DNS:…,IP:…"."""
        certificate, key = self.folder / f"{name}.crt", self.folder / f"{name}.key"
        request, extensions = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        must(["openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request, "-subj", subject])
        usage = "clientAuth" + (",serverAuth" if names else "")
        extensions.write_text(f"extendedKeyUsage={usage}\n" + (f"subjectAltName={names}\n" if names else ""))
        must(["openssl", "x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self._key, "-CAcreateserial",
              "-out", certificate, "-days", "2", "-extfile", extensions])
        return certificate, key
