// Unpacks what the scripts of the page read, by its name, and runs the scripts one after another.
(async () => {
  for (const packed of document.querySelectorAll('script[type="application/gzip"]')) {
    const bytes = Uint8Array.from(atob(packed.textContent), (letter) => letter.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    if (packed.id) Object.assign(script, { id: packed.id, type: "application/json" });
    script.textContent = await new Response(plain).text();
    packed.replaceWith(script);
  }
})();
