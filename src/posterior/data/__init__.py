"""Input at the boundary: validation, frames, rows, and the errors that speak of them."""
