"""The browser, Node and npm packages that some tests look at pages with, and what this machine lacks of them."""

import os
import shutil
from functools import cache
from pathlib import Path


def chromium():
    """The browser; nothing if there is none."""
    return shutil.which("chromium") or shutil.which("google-chrome") or ""


def firefox():
    """The other browser; nothing if there is none."""
    return shutil.which("firefox-esr") or shutil.which("firefox") or ""


@cache
def missing(*packages):
    """What this machine has not got of Chromium, Node and npm packages (found through NODE_PATH); "" if nothing."""
    return "Chromium is not installed" if not chromium() else missing_of_node(*packages)


@cache
def missing_of_node(*packages):
    """What this machine has not got of Node and npm packages (found through NODE_PATH); "" if nothing."""
    if not shutil.which("node"):
        return "Node is not installed"
    folders = [Path(folder) for folder in os.environ.get("NODE_PATH", "").split(os.pathsep) if folder]
    lacking = [package for package in packages if not any((folder / name_of(package)).exists() for folder in folders)]
    return f"Node finds no {', '.join(lacking)} (NODE_PATH)" if lacking else ""


def name_of(file):
    """The package that a file is of, which may be somebody's: @someone/package."""
    return "/".join(file.split("/")[: 2 if file.startswith("@") else 1])
