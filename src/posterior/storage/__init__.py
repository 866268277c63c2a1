"""The model file: arrays and a JSON tree in one safetensors file, read without running code."""

from posterior.storage.errors import ModelFileError
from posterior.storage.files import inspect, load, save
from posterior.storage.locks import locked

__all__ = ["ModelFileError", "inspect", "load", "locked", "save"]
