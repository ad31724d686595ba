import { Html, html, page, policyFor } from './html.ts'

const submit = 'document.forms[0].submit()'

/**
 * Lets the form of {@link departurePage} go to its provider, and its one script run. Any host will do: browsers hold the
 * redirects that follow to this rule too, and providers lead on to hosts that their metadata do not name.
 */
export const departureHeaders = (action: string): Readonly<Record<string, string>> => ({
  'content-security-policy': policyFor(new URL(action).protocol, submit),
})

/** A form that sends the browser on to an identity provider: by itself where scripts run, else at the press of its button. */
export const departurePage = (action: string, fields: Readonly<Record<string, string>>): string => {
  const inputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  return page(
    'Sign in',
    html`<p>You sign in with your organisation.</p>
<form method="post" action="${action}">${inputs}<button autofocus>Go on</button></form><script>${new Html(submit)}</script>`,
  )
}

/** Leads on by itself: a navigation that begins here carries strict cookies, one that a redirect continues does not (D8.5). */
export const onwardPage = (url: string): string =>
  page(
    'Signed in',
    html`<p>You are signed in.</p><p><a href="${url}">Go on</a></p>`,
    html`<meta http-equiv="refresh" content="0; url=${url}">`,
  )
