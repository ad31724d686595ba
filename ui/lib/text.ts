/** Characters that show nothing or change how others are shown: controls, marks of direction, invisible ones. */
const deceptive = /[\p{Cc}\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/gu

const code = (sign: string): string => sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0') ?? ''

/** A name as text that shows all its characters: `report‹U+202E›gpj.exe`. */
export const visible = (name: string): string => name.replaceAll(deceptive, sign => `‹U+${code(sign)}›`)

const MAX_HINT = 300

/** The whole name where only its beginning is shown, cut where nobody reads on. */
export const hintOf = (name: string): string => {
  const text = visible(name)
  return text.length > MAX_HINT ? `${text.slice(0, MAX_HINT)}…` : text
}

/** `notes (2).txt`: the name with a number before its extension. */
export function numbered(name: string, number: number): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? `${name.slice(0, dot)} (${number})${name.slice(dot)}` : `${name} (${number})`
}
