"""The same model behind a plain FastAPI handler with scikit-learn, as it is written everywhere."""

import os
import socket
import sys

import pandas as pd
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.serve_load import COLUMNS, table

NAMES = [f"x{j}" for j in range(COLUMNS)]
X, Y = table()
MODEL = make_pipeline(StandardScaler(), GaussianNB()).fit(pd.DataFrame(X, columns=NAMES), Y)
app = FastAPI()


class Rows(BaseModel):
    rows: list[dict[str, float]]


class Prediction(BaseModel):
    prediction: str
    posterior: dict[str, float]


@app.post("/predict")
def predict(question: Rows) -> list[Prediction]:
    p = MODEL.predict_proba(pd.DataFrame(question.rows, columns=NAMES))
    labels = MODEL.classes_.tolist()
    return [
        Prediction(prediction=labels[row.argmax()], posterior=dict(zip(labels, row, strict=True)))
        for row in p
    ]


@app.get("/health")
async def health() -> dict[str, int]:
    return {"worker": os.getpid()}


if __name__ == "__main__":
    listening = socket.create_server(("127.0.0.1", 0))
    print(f"127.0.0.1:{listening.getsockname()[1]}", file=sys.stderr, flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])
