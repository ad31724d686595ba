/** Escapes a text for HTML, in content and in quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, character => `&#${character.codePointAt(0)};`)
