/** Escapes a text for HTML, in content and in quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, character => `&#${character.codePointAt(0)};`)

/** Whether the text has the form of a language tag: `en`, `pt-BR`, `sv_SE`. */
export const isLanguageTag = (text: string): boolean => /^[A-Za-z]{1,8}([-_][A-Za-z0-9]{1,8})*$/.test(text)
