"""Models of the lectures in NumPy alone, as students write them; marked lines become blanks."""
