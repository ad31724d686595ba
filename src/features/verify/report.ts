import type { Verified } from './verify.ts'

const marks = { kept: 'ok     ', broken: 'BROKEN ', unchecked: 'unknown' } as const

/** Lines for people: what was promised, what was seen, and what to do. */
export function linesOf({ promised, outcome }: Verified, documents: string): readonly string[] {
  const first = `${marks[outcome.state]} ${promised.id}: ${promised.sentence}`
  if (outcome.state === 'kept') return [`${first} (${outcome.seen})`]
  if (outcome.state === 'unchecked') return [first, `        Not checked: ${outcome.why}.`]
  return [first, `        Seen: ${outcome.seen}`, `        ${outcome.advice} See ${documents}${promised.page}`]
}

export const jsonOf = ({ promised: { id, sentence, page }, outcome }: Verified) => ({ id, sentence, page, ...outcome })

const escapeXml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    .replaceAll(/[^\P{Cc}\t\n\r]/gu, '?')

/** For a build server: a case for each promise. */
export function junitOf(all: readonly Verified[]): string {
  const count = (state: string): number => all.filter(({ outcome }) => outcome.state === state).length
  const cases = all.map(({ promised, outcome }) => {
    const name = `<testcase classname="verify" name="${escapeXml(`${promised.id}: ${promised.sentence}`)}">`
    if (outcome.state === 'broken') {
      return `${name}<failure message="${escapeXml(outcome.seen)}">${escapeXml(outcome.advice)}</failure></testcase>`
    }
    if (outcome.state === 'unchecked') return `${name}<skipped message="${escapeXml(outcome.why)}"/></testcase>`
    return `${name}</testcase>`
  })
  const totals = `tests="${all.length}" failures="${count('broken')}" skipped="${count('unchecked')}"`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="stowage verify" ${totals}>\n${cases.join('\n')}\n</testsuite>\n`
}
