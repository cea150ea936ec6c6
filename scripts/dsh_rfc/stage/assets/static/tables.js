/**
 * Makes tables readable that are wider than the page.
 *
 * The theme lets them scroll but gives them no focus, so they are out of reach by keyboard; and a table that scrolls
 * anyway need not squeeze its prose into columns of one word. Names stay whole, though they have hyphens.
 */
(() => {
  "use strict";
  const LONGEST_NAME = 32;

  function keepNamesWhole() {
    for (const code of document.querySelectorAll(".md-typeset td code")) {
      const text = code.textContent;
      if (text.length <= LONGEST_NAME && !/\s/.test(text)) code.classList.add("dsh-name");
    }
  }

  function update() {
    for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap")) {
      wrap.classList.remove("dsh-wide");
      const scrolls = () => wrap.scrollWidth > wrap.clientWidth;
      wrap.classList.toggle("dsh-wide", scrolls());
      if (scrolls()) wrap.tabIndex = 0; // the class may have made room enough
      else wrap.removeAttribute("tabindex");
    }
  }

  window.addEventListener("load", () => {
    keepNamesWhole();
    update();
  });
  window.addEventListener("resize", update);
})();
