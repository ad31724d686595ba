import { escapeHtml } from '../base/text.ts'
import type { Mail } from './smtp-mailer.ts'

/** The texts of one mail in one language; `{name}`, `{address}` and `{hours}` stand for the values. */
export interface MailTexts {
  /** A language tag. */
  readonly language: string
  readonly subject: string
  readonly why: string
  readonly how: string
  /** The label of the link. */
  readonly button: string
  readonly otherwise: string
}

interface MailValues {
  /** The user name, which is the address of the mailbox. */
  readonly name: string
  /** Where the link leads. */
  readonly link: string
  /** The base address of the service. */
  readonly address: string
  /** For texts with `{hours}`. */
  readonly hours?: number
  /** The message of a person to the recipient. */
  readonly message?: string | undefined
}

/** True for a text that a mail server reads as exactly one address. */
export const isMailAddress = (text: string): boolean => /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/.test(text)

/** A mail with a link, as text and as HTML. */
export function linkMail(texts: MailTexts, values: MailValues): Mail {
  const { name, link, message } = values
  const fill = (text: string): string =>
    text.replaceAll(/\{(name|address|hours)\}/g, (_, place: 'name' | 'address' | 'hours') => String(values[place]))
  const [why, how, otherwise] = [fill(texts.why), fill(texts.how), fill(texts.otherwise)]
  return {
    to: name,
    subject: fill(texts.subject),
    text: `${[why, ...(message === undefined ? [] : [message.replaceAll(/^/gm, '> ')]), how, link, otherwise].join('\n\n')}\n`,
    html: `<!doctype html>
<html lang="${escapeHtml(texts.language)}"><body style="font: 16px/1.5 sans-serif">
<p>${escapeHtml(why)}</p>${message === undefined ? '' : `\n<blockquote style="white-space: pre-line">${escapeHtml(message)}</blockquote>`}
<p>${escapeHtml(how)}</p>
<p><a href="${escapeHtml(link)}">${escapeHtml(fill(texts.button))}</a></p>
<p style="font-size: 13px">${escapeHtml(link)}</p>
<p>${escapeHtml(otherwise)}</p>
</body></html>
`,
  }
}
