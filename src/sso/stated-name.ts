import { normaliseName } from '../accounts/users.ts'

/**
 * The normal form (D1.7) of the name of a user or group that a provider states; `undefined` if the name differs from it in more than
 * case. A provider can have a user with an invisible or a wide letter beside the user whose name looks the same, so the one must not be
 * taken for the other. Protocols whose messages are indented remove the blanks around a name before.
 */
export function plainNameOf(stated: string): string | undefined {
  const name = normaliseName(stated)
  // The first comparison: the lower case of some signs, such as that of Kelvin, is a letter.
  return stated.normalize('NFKC') === stated && stated.toLowerCase() === name ? name : undefined
}

const MAX_SHOWN = 300

/** A name for administrators, who could not see how it differs from another one. */
export const showName = (name: string): string =>
  Array.from(name.slice(0, MAX_SHOWN))
    .map(sign => (/[\x20-\x7e]/.test(sign) ? sign : `<U+${sign.codePointAt(0)?.toString(16).toUpperCase()}>`))
    .join('')
