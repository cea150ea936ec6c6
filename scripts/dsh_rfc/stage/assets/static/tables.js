/** Lets a table that is wider than the page be scrolled by keyboard; the theme wraps it but gives it no focus. */
(() => {
  "use strict";

  function update() {
    for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap")) {
      if (wrap.scrollWidth > wrap.clientWidth) wrap.tabIndex = 0;
      else wrap.removeAttribute("tabindex");
    }
  }

  window.addEventListener("load", update);
  window.addEventListener("resize", update);
})();
