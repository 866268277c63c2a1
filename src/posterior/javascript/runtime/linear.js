// Scores linear in numbers: w_kj (xⱼ - tⱼ); a missing number adds nothing.

PARTS.linear = ({ x, names, typical, coef }) => (at, tell) => {
  const numbers = at.vector(x);
  for (let j = 0; j < numbers.length; j++) {
    const apart = Number.isNaN(numbers[j]) ? 0 : numbers[j] - typical[j];
    tell(names[j], coef.map((w) => w[j] * apart));
  }
};
