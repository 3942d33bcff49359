// What the browser remembers of this page: nothing, where its user has forbidden that.

export function recall(key, where = "localStorage") {
  try {
    return window[where].getItem(key);
  } catch {
    return null;
  }
}

export function remember(key, value, where = "localStorage") {
  try {
    window[where].setItem(key, value);
  } catch {
    // It holds until the page is closed.
  }
}
