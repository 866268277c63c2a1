"""How well probabilities predict: ours and the peers as they come, on rows held out.

    python -m benchmarks.quality                                # ours and scikit-learn: an hour
    python -m benchmarks.quality --peers PYTHON                 # LightGBM, CatBoost and EBM as well
    python -m benchmarks.quality --models Additive car glass    # some models, some tables
    python -m benchmarks.quality --keel FOLDER                  # and raw tables of KEEL
    python -m benchmarks.quality --page                         # only the page, of what is stored

Five stratified folds, shuffled by seed 0. Nothing is chosen on rows that are scored: what a model
chooses (rounds, penalties) it chooses in its own rows. The probabilities of every row go to
build/quality, a file for each table and model, and what is stored there is not run again, unless
--again asks for it. Scores of the stored go to docs/results/quality.json, and the page made of them
to docs/results/quality.md.

Each table and model is run in a process of its own, which is ended after --longest seconds. Its
Python is that of --peers where the model needs a package that ours need not have; it needs nothing
of ours.

The sets are looked for in POSTERIOR_DATA, or in ../shared/data beside the repository.
"""
