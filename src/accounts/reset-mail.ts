import { escapeHtml } from '../base/text.ts'
import type { Mail } from '../stores/mailer.ts'

/** Builds the mail with the link to set a new password, as text and as HTML. */
export function resetMail(to: string, link: string, hours: number): Mail {
  const why = 'Somebody, probably you, asked to set a new password for your account.'
  const how = `Open this link within ${hours} hours to choose one. It works once.`
  const otherwise = 'If it was not you, do nothing: your password stays as it is.'
  return {
    to,
    subject: 'Set a new password',
    text: `${why}\n\n${how}\n\n${link}\n\n${otherwise}\n`,
    html: `<!doctype html>
<html lang="en"><body style="font: 16px/1.5 sans-serif">
<p>${escapeHtml(why)}</p>
<p>${escapeHtml(how)}</p>
<p><a href="${escapeHtml(link)}">Set a new password</a></p>
<p style="font-size: 13px">${escapeHtml(link)}</p>
<p>${escapeHtml(otherwise)}</p>
</body></html>
`,
  }
}
