// Classes that are mixtures: log p(c | x) = log Σ p(k | x) of the components k of c.

MODELS.mixture = ({ components, of_class: ofClass, terms, classes: labels, calibrators }) => {
  const parts = model(components), correct = corrections(calibrators);
  return {
    terms,
    unexplained: "classes of several components. Fit it with n_components=1",
    said(at) {
      const log = parts.said(at);
      return correct(labels.map((_, c) => logSum(log.filter((__, k) => ofClass[k] === c))));
    },
  };
};
