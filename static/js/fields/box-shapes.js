// Boxes as numbers, [left, top, right, bottom] in pixels of the picture, and the shapes that show them.

export const clamp = (at, size) => Math.max(0, Math.min(size, at));
export const outline = ([left, top, right, bottom]) => `M${left} ${top}V${bottom}H${right}V${top}Z`;
export const spanned = (a, b) => [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[0], b[0]), Math.max(a[1], b[1])];
export const svg = (name, attributes = {}) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  return made;
};

/** Moved as a whole, or by the edges of `way`; an edge may be drawn across the other. */
export function shifted([l, t, r, b], [dx, dy], way, [width, height]) {
  if (!way[0] && !way[1]) {
    const [x, y] = [Math.max(-l, Math.min(width - r, dx)), Math.max(-t, Math.min(height - b, dy))];
    return [l + x, t + y, r + x, b + y];
  }
  return spanned([way[0] < 0 ? l + dx : l, way[1] < 0 ? t + dy : t], [way[0] > 0 ? r + dx : r, way[1] > 0 ? b + dy : b]);
}
