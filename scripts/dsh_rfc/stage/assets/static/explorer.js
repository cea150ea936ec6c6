/**
 * Filters the table of RFCs, which is complete without this script.
 *
 * The controls are made here, so that nobody sees one that does nothing. What is chosen stands in the address, under
 * names that the theme's search does not use, and survives reload, going back and being sent to somebody.
 */
(() => {
  "use strict";

  const KEYS = ["text", "status", "class", "year"];

  /** Fold case and width, so that a reader need not know how a title is written. */
  const fold = (text) => text.normalize("NFKC").toLocaleLowerCase();

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function readRows(table) {
    return [...table.tBodies[0].rows].map((row) => {
      const [title, status, kind, proposed] = row.cells;
      const value = (cell) => cell.querySelector("[data-value]")?.dataset.value ?? cell.textContent.trim();
      return {
        row,
        link: title.querySelector("a"),
        words: fold(row.textContent),
        status: value(status),
        class: value(kind),
        year: proposed.textContent.trim().slice(0, 4),
        labels: { status: status.textContent.trim(), class: kind.textContent.trim() },
      };
    });
  }

  /** Name the cells for phones, where the header row is out of sight, and keep them a table for screen readers. */
  function labelCells(table) {
    const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
    table.setAttribute("role", "table");
    for (const group of [table.tHead, ...table.tBodies]) group.setAttribute("role", "rowgroup");
    for (const row of table.rows) {
      row.setAttribute("role", "row");
      [...row.cells].forEach((cell, index) => {
        cell.setAttribute("role", cell.tagName === "TH" ? "columnheader" : "cell");
        if (cell.tagName === "TD" && index > 2) cell.dataset.label = names[index];
      });
    }
  }

  function choices(rows, key) {
    const found = new Map();
    for (const item of rows) found.set(item[key], item.labels[key] ?? item[key]);
    return [...found].sort(([a], [b]) => (key === "year" ? b.localeCompare(a) : a.localeCompare(b)));
  }

  function makeControls(rows, words) {
    const controls = { text: element("input", { type: "search", name: "text", autocomplete: "off" }) };
    for (const key of KEYS.slice(1)) {
      const options = [element("option", { value: "" }, words.filterAny)];
      for (const [value, label] of choices(rows, key)) options.push(element("option", { value }, label));
      controls[key] = element("select", { name: key }, ...options);
    }
    return controls;
  }

  function enhance(explorer) {
    const table = explorer.querySelector("table");
    if (!table) return;
    const words = explorer.dataset;
    const rows = readRows(table);
    labelCells(table);
    const controls = makeControls(rows, words);
    const names = { text: words.filterText, status: words.status, class: words.class, year: words.year };
    const count = element("p", { class: "rfc-filter__count", role: "status" });
    const reset = element("button", { type: "reset" }, words.filterReset);
    const form = element(
      "form",
      { class: "rfc-filter", role: "search", "aria-label": words.filterLabel },
      ...KEYS.map((key) => element("label", {}, names[key], controls[key])),
      reset,
      count,
    );

    const shown = () => rows.filter((item) => !item.row.hidden);

    function apply() {
      const wanted = fold(controls.text.value).split(/\s+/).filter(Boolean);
      for (const item of rows) {
        const fits = KEYS.slice(1).every((key) => !controls[key].value || controls[key].value === item[key]);
        item.row.hidden = !(fits && wanted.every((word) => item.words.includes(word)));
      }
      count.textContent = words.filterShown.replace("{shown}", shown().length).replace("{all}", rows.length);
    }

    function readAddress() {
      const parameters = new URLSearchParams(location.search);
      for (const key of KEYS) {
        controls[key].value = parameters.get(key) ?? "";
        if (controls[key].selectedIndex === -1) controls[key].value = "";
      }
      apply();
    }

    function writeAddress() {
      const address = new URL(location.href);
      for (const key of KEYS) {
        if (controls[key].value) address.searchParams.set(key, controls[key].value);
        else address.searchParams.delete(key);
      }
      history.replaceState(history.state, "", address);
    }

    function changed() {
      apply();
      writeAddress();
    }

    form.addEventListener("input", changed);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(changed));
    explorer.addEventListener("keydown", (event) => {
      // The theme takes single letters as shortcuts.
      if (form.contains(event.target)) event.stopPropagation();
      if (event.key === "Escape" && form.contains(event.target)) form.reset();
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || event.target.tagName === "SELECT") return;
      const links = shown().map((item) => item.link);
      const at = links.indexOf(event.target);
      if (at === -1 && !(event.target === controls.text && step === 1)) return;
      event.preventDefault();
      (links[at + step] ?? (at + step < 0 ? controls.text : event.target)).focus();
    });
    window.addEventListener("popstate", readAddress);
    explorer.prepend(form);
    readAddress();
  }

  for (const explorer of document.querySelectorAll(".rfc-explorer")) enhance(explorer);
})();
