/** A value as Java writes it into a file of properties: in ASCII, with escapes for what has a meaning there. */
export const escapedProperty = (value: string): string =>
  value
    .replaceAll(/[\\:=#!]/g, '\\$&')
    .replace(/^ /, '\\ ')
    .replaceAll(/[^\x20-\x7e]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
