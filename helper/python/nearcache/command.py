# SPDX-License-Identifier: GPL-2.0-only
"""Run the program nearcache, and read its JSON output."""
import errno
import json
import os
import shutil
import subprocess
import warnings

SCHEMA = 1
WARNING = "nearcache: warning: "


class NearcacheError(Exception):
    """
    The program failed, or a prefetch job did not load all data.

    code: exit code of the program: 1 usage, 2 permission, 3 memory, 4 wrong device, 5 exists or busy;
        -N: signal N killed the program
    kind: the code in words, as the program names it; "unknown" if the program wrote no error
    message: what failed, and what to do
    result: the document that the program wrote beside the error, such as the state of a prefetch job
    """

    def __init__(self, code, kind, message, result=None):
        super().__init__(code, kind, message)
        self.code = code
        self.kind = kind
        self.message = message
        self.result = result or {}

    def __str__(self):
        return self.message


class NearcacheWarning(UserWarning):
    """The program succeeded, and wrote this warning."""


def _program():
    """Find the program. It is in a folder for administrators, which the PATH of a user may lack."""
    folders = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin"])
    found = shutil.which("nearcache", path=folders)
    if not found:
        raise FileNotFoundError(errno.ENOENT, "the program is not in PATH: install nearcache", "nearcache")
    return found


def _words(options):
    """Yield the words of the command line for keyword arguments."""
    for key, value in options.items():
        name = "--" + key.replace("_", "-")
        if value is True:
            yield name
        elif value is not None and value is not False:
            yield f"{name}={os.fspath(value) if isinstance(value, os.PathLike) else value}"


def _document(output):
    """Return the document in the output, or None if it has none of the known schema."""
    try:
        document = json.loads(output)
    except ValueError:
        return None
    if not isinstance(document, dict) or document.pop("schema", None) != SCHEMA:
        return None
    return document


def run(verb, operands, options, stdin=None):
    """
    Run a verb of the program with these operands and options, and return its document.

    stdin: bytes for the program to read
    """
    command = [_program(), verb, "--json", *_words(options), "--", *operands]
    given = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **given)
    said = done.stderr.decode(errors="replace")
    for line in said.splitlines():
        if line.startswith(WARNING):
            warnings.warn(line[len(WARNING):], NearcacheWarning, stacklevel=3)
    document = _document(done.stdout)
    error = document.pop("error", None) if document else None
    if error:
        raise NearcacheError(error["code"], error["kind"], error["message"], document)
    if done.returncode or document is None:
        why = said.strip() or f"exit code {done.returncode}, no JSON of schema {SCHEMA}"
        raise NearcacheError(done.returncode, "unknown", f"'nearcache {verb}' failed: {why}")
    return document


def status(name=None):
    """
    Return the state of a device: mode, state, devices, sizes, hit ratio; see nearcache-status(8).

    Without name, return a list with the states of all devices.
    """
    if name is None:
        return run("status", [], {})["devices"]
    return run("status", [name], {})
