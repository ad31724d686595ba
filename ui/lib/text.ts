/** Emoji and the scripts that join letters: in them, joiners (U+200C, U+200D) belong to the spelling. */
const JOINING =
  '\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\uFE0F' +
  ['Arab', 'Syrc', 'Mong', 'Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml', 'Telu', 'Knda', 'Mlym', 'Sinh', 'Khmr']
    .map(script => `\\p{Script_Extensions=${script}}`)
    .join('')

/**
 * Characters that are invisible or change how others are shown: control characters, direction marks,
 * zero-width characters.
 */
const deceptive = new RegExp(
  `[\\p{Cc}\\u061C\\u200B\\u200E\\u200F\\u2028-\\u202E\\u2060-\\u2069\\uFEFF]|(?<![${JOINING}])[\\u200C\\u200D]`,
  'gu',
)

const code = (sign: string): string => sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0') ?? ''

/** A name with its hidden characters made visible: `report‹U+202E›gpj.exe`. */
export const visible = (name: string): string => name.replaceAll(deceptive, sign => `‹U+${code(sign)}›`)

const MAX_HINT = 300

/** The text for a tooltip with the whole name, cut at a reasonable length. */
export const hintOf = (name: string): string => {
  const text = visible(name)
  return text.length > MAX_HINT ? `${text.slice(0, MAX_HINT)}…` : text
}

/** The name with a number before its extension: `notes (2).txt`. */
export function numbered(name: string, number: number): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? `${name.slice(0, dot)} (${number})${name.slice(dot)}` : `${name} (${number})`
}
