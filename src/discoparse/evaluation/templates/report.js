// A link to a sentence unfolds it.
function unfold() {
  const target = document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
  }
}
addEventListener("hashchange", unfold);
addEventListener("DOMContentLoaded", unfold);
