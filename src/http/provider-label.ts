import Negotiator from 'negotiator'
import type { ProviderFace } from '../sso/identity-provider.ts'

/**
 * The name of a provider in the language that the browser prefers among the configured ones, otherwise its
 * general name.
 * @param acceptLanguage `*` in it expresses no preference
 */
export function labelOf({ label, labels }: ProviderFace, acceptLanguage: string | undefined): string {
  const ranges = (acceptLanguage ?? '').split(',').filter(range => !range.trim().startsWith('*'))
  const headers = { 'accept-language': ranges.join(',') }
  // Without a range the negotiator would take all languages for welcome.
  const [language] = ranges.join('') === '' ? [] : new Negotiator({ headers }).languages([...labels.keys()])
  return (language === undefined ? undefined : labels.get(language)) ?? label
}
