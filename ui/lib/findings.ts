import { bytes, dateTimeSeconds, number } from './format.ts'
import { currentLanguage, fillIn } from './language.ts'

/** What `stowage doctor` has found. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'problem'
  readonly code: string
  /** In English. */
  readonly text: string
  readonly values: Readonly<Record<string, string | number>>
}

/** Texts by code, with the same places as the English ones: `{free, size}` is a size, `{made, time}` a time. */
export type FindingTexts = Readonly<Record<string, string>>

/** Few people need these texts, so they are loaded with the page of the checks. English texts come with the findings. */
const files: Readonly<Record<string, () => Promise<{ readonly default: FindingTexts }>>> = {
  de: () => import('../messages/findings/de.ts'),
  sv: () => import('../messages/findings/sv.ts'),
}

const loaded = new Map<string, FindingTexts>()

/** Loads the texts in the language of the page. Without them the findings are in English. */
export async function loadTexts(): Promise<void> {
  const language = currentLanguage()
  const texts = await files[language]?.().catch(() => undefined)
  if (texts) loaded.set(language, texts.default)
}

const TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/

/** The English text of a finding, with times as everywhere on the pages. */
export const englishText = ({ text, values }: Finding): string =>
  Object.values(values)
    .filter(value => typeof value === 'string' && TIME.test(value))
    .reduce<string>((shown, time) => shown.replaceAll(String(time), dateTimeSeconds(new Date(time))), text)

/** The text of a finding in the language of the page, if there is one. The place `{reason}` stays empty: its text is in English. */
export function findText({ code, values }: Finding): string | undefined {
  const text = loaded.get(currentLanguage())?.[code]
  if (text === undefined) return undefined
  const shown = Object.entries(values).map(([name, value]) => [name, typeof value === 'number' ? number(value) : value])
  const withUnits = text
    .replaceAll(/\{(\w+), size\}/g, (_, name: string) => bytes(Number(values[name])))
    .replaceAll(/\{(\w+), time\}/g, (_, name: string) => dateTimeSeconds(new Date(values[name] ?? '')))
  return fillIn(withUnits, { ...(Object.fromEntries(shown) as Finding['values']), reason: '{reason}' })
}
