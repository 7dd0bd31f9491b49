"""The browser, Node and npm packages that some tests look at pages with, and what this machine lacks of them."""

import shutil
import subprocess
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
    asked = "; ".join(f"require.resolve('{package}')" for package in packages)
    found = subprocess.run(["node", "-e", asked], cwd=Path(__file__).parent, capture_output=True, check=False)
    return "" if found.returncode == 0 else f"Node finds no {', '.join(packages)} (NODE_PATH)"
