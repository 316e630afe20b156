// What htmx does not do: copy, say where the caret is, and bring a new answer into view.
// Without scripts the pages do the same by loading anew.
"use strict";
const announce = (button, text) => {
  const before = button.textContent;
  button.textContent = text;
  setTimeout(() => { button.textContent = before; }, 1500);
};

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy], [data-copy-link]");
  if (!button) return;
  const text = "copyLink" in button.dataset ? location.href : button.dataset.copy;
  try {
    await navigator.clipboard.writeText(text);
    announce(button, "Copied");
  } catch {
    // Browsers copy for pages that came by TLS, or from this machine; else it is shown to be marked.
    window.prompt("Copy this", text);
  }
});

let behind = 0; // how much of the question is behind the caret
const tellCaret = () => {
  const text = document.getElementById("question"), caret = document.getElementById("caret");
  if (!text || !caret || document.activeElement !== text) return;
  caret.value = text.selectionStart;
  behind = text.value.length - text.selectionStart;
};
document.addEventListener("selectionchange", tellCaret);
document.addEventListener("input", tellCaret, true);

document.addEventListener("keydown", (event) => {
  if (event.target.id !== "question") return;
  const first = document.querySelector(".completions button");
  if (event.key === "ArrowDown" && first) {
    event.preventDefault();
    first.focus();
  }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    document.querySelector("#bench button[value=ask]").click();
  }
});

document.addEventListener("htmx:afterSettle", (event) => {
  const { requestConfig } = event.detail;
  const parameters = requestConfig && requestConfig.parameters;
  if (!parameters) return;
  const pick = String(parameters.pick || "");
  if (pick.startsWith("complete ")) {
    const text = document.getElementById("question");
    text.focus();
    text.setSelectionRange(text.value.length - behind, text.value.length - behind);
  }
  if (parameters.do === "ask" && !pick) {
    const reply = document.getElementById("reply");
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (reply) reply.scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
  }
});

document.addEventListener("htmx:sendError", () => {
  const place = document.getElementById("checked");
  if (place) place.textContent = "The service cannot be reached. Try again: a question that is sent twice is asked once.";
});
