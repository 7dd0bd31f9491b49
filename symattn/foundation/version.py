"""The version of the software, also written in every frozen exam."""

VERSION = "0.1.0"
