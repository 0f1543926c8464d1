// Dark or light: as chosen before, otherwise as the system says. It runs before anything is drawn.

(() => {
  const KEPT = "slanted-theme";
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: light)");
  const isTheme = (name) => name === "dark" || name === "light";

  // Browsers may refuse storage; then the choice lasts as long as the page.
  const read = () => {
    try {
      return window.localStorage.getItem(KEPT);
    } catch {
      return null;
    }
  };
  const keep = (name) => {
    try {
      window.localStorage.setItem(KEPT, name);
    } catch {
      // The page works without.
    }
  };

  let chosen = read();
  const show = () => {
    root.dataset.theme = isTheme(chosen) ? chosen : system.matches ? "light" : "dark";
  };
  show();
  system.addEventListener("change", show);
  window.toggleTheme = () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    keep(chosen);
    show();
  };
})();
