import { createHash } from 'node:crypto'
import { Html, html, type PageContext, page, policyFor } from './html.ts'

const submit = 'document.forms[0].submit()'
const submitDigest = createHash('sha256').update(submit).digest('base64')

/**
 * Allows the form of {@link providerFormPage} to lead to its provider, and its one script to run. Any host is allowed, because browsers
 * apply this rule to later redirects too, and providers redirect to hosts that are not in their metadata.
 */
export const providerFormHeaders = (action: string): Readonly<Record<string, string>> => ({
  'content-security-policy': policyFor(new URL(action).protocol, `'sha256-${submitDigest}'`),
})

/** A form that sends the browser on to an identity provider: by itself where scripts run, else at the press of its button. */
export const providerFormPage = (
  context: PageContext,
  action: string,
  fields: Readonly<Record<string, string>>,
  { title, notice } = { title: context.words.signIn, notice: context.words.leaving },
): string => {
  const inputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  return page(
    context,
    title,
    html`<p>${notice}</p>
<form method="post" action="${action}">${inputs}<button class="button wide" autofocus>${context.words.goOn}</button></form><script>${new Html(submit)}</script>`,
  )
}

/**
 * Leads on by itself. A navigation that begins on this page carries cookies with `SameSite=Strict`, which a redirect from another site does
 * not (D8.5). Unlike the target of a form, it is not limited by the policy of the page.
 */
export const onwardPage = (
  context: PageContext,
  { title, notice, url }: { readonly title: string; readonly notice: string; readonly url: string },
): string =>
  page(
    context,
    title,
    html`<p>${notice}</p><p><a class="button wide" href="${url}">${context.words.goOn}</a></p>`,
    html`<meta http-equiv="refresh" content="0; url=${url}">`,
  )
