"""Tables made ready for models that read numbers only."""
