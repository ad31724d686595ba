import type { MailTexts } from '../../mails/link-mail.ts'
import type { Share, ShareMailOptions } from './share-mails.ts'
import type { BaseAddress } from '../../http/base-address.ts'
import { type UiAssets, wordsFor } from '../../http/page.ts'

export const shareMailOptions = (ui: UiAssets, address: { readonly base: BaseAddress }): ShareMailOptions => ({
  address: () => address.base.href,
  textsFor: (share, languages) => shareMailTexts(ui, share, languages),
})

function shareMailTexts(
  ui: UiAssets,
  { sender, item }: Share,
  languages: ReadonlyArray<string | undefined>,
): MailTexts {
  const { language, words } = wordsFor(ui, languages)
  const fill = (text: string): string => text.replace('{sender}', () => sender).replace('{item}', () => item)
  return {
    language,
    subject: fill(words['mail.share.subject']),
    why: fill(words['mail.share.why']),
    how: words['mail.share.how'],
    button: words['mail.share.button'],
    otherwise: fill(words['mail.share.otherwise']),
  }
}
