"""The API as OpenAPI describes it, with /predict, the models by name, and all limits."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from posterior.app.server import arrow_stream
from posterior.app.server.access import Access
from posterior.app.server.limits import Limits
from posterior.app.server.predict_route import JSON, PATH, VERBS
from posterior.app.server.questions import question_schema

PREDICT = """The posterior and the prediction of some rows.

Rows as objects, columns as arrays, or a stream of Arrow; the answer has the shape of the question.
The stream that comes back has the columns `prediction`, `p_CLASS` of each class, `missing` and
`unseen`, and the model in its metadata; its buffers must not be compressed."""
BYTES = {"schema": {"type": "string", "format": "binary"}}
NAME = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}


def describe(app: FastAPI, limits: Limits, access: Access, root_path: str) -> None:
    """Teach an application to describe itself whole."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _completed(plain(), limits, access, root_path)
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]


def _completed(
    found: dict[str, Any], limits: Limits, access: Access, root_path: str
) -> dict[str, Any]:
    schemas, components = question_schema()
    known = found.setdefault("components", {}).setdefault("schemas", {})
    known.update(components)
    refusal = {"type": "object", "properties": {"error": {"type": "string"}}}
    paths = found["paths"]
    paths[PATH] = {"post": _predict(schemas, paths["/api/explain"]["post"]["parameters"])}
    for verb, path in VERBS.items():
        by_name = f"/models/{{name}}/{verb}".rstrip("/")
        paths[by_name] = {method: _of_a_name(route) for method, route in paths[path].items()}
    for methods in paths.values():
        for route in methods.values():
            answers = {code: a for code, a in route["responses"].items() if code != "422"}
            error = {
                "description": "Refused, in one sentence",
                "content": {JSON: {"schema": refusal}},
            }
            route["responses"] = {**answers, "4XX": error}
    found["x-limits"] = [
        {"name": name, "limit": value, "description": words}
        for name, value, words in limits.described()
    ]
    found["servers"] = [{"url": root_path.rstrip("/") or "/"}]
    if access.token is not None:
        known_schemes = found["components"].setdefault("securitySchemes", {})
        known_schemes["token"] = {"type": "http", "scheme": "bearer"}
        found["security"] = [{"token": []}]
    return found


def _predict(schemas: dict[str, Any], parameters: list[Any]) -> dict[str, Any]:
    return {
        "summary": "Predict",
        "description": PREDICT,
        "operationId": "predict",
        "parameters": parameters,
        "requestBody": {
            "required": True,
            "content": {JSON: {"schema": schemas["question"]}, arrow_stream.MEDIA: BYTES},
        },
        "responses": {
            "200": {
                "description": "The predictions, and the model that made them",
                "content": {JSON: {"schema": schemas["answer"]}, arrow_stream.MEDIA: BYTES},
            }
        },
    }


def _of_a_name(route: dict[str, Any]) -> dict[str, Any]:
    """The same route of a model that the path names."""
    others = [p for p in route.get("parameters", []) if p["name"] != "model"]
    operation = f"{route['operationId']}_of_a_name"
    return {**route, "parameters": [NAME, *others], "operationId": operation}
