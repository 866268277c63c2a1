"""The model file: arrays and a JSON tree in one safetensors file, read without running code."""

from posterior.storage.locks import locked
from posterior.storage.model_file_error import ModelFileError
from posterior.storage.model_files import inspect, load, save

__all__ = ["ModelFileError", "inspect", "load", "locked", "save"]
