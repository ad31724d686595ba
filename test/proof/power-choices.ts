import { type Cell, type Choice, type Disk, type DiskFile, SECTOR } from './power-disk.ts'
import type { Random } from './random.ts'

/** A choice, and what it is called where it shows a fault. */
export interface NamedChoice extends Choice {
  readonly title: string
}

type Pick = <T>(cell: Cell<T>) => T

const oldest: Pick = ({ versions }) => versions[0].value
const newest: Pick = ({ last }) => last
/** The names that a journal holds which ends with this call. */
const until =
  (call: number): Pick =>
  ({ versions }) =>
    (versions.findLast(({ at }) => at <= call) ?? versions[0]).value

const choice = (title: string, name: Pick, data: Pick): NamedChoice => ({ title, name, size: data, block: data })

/** As if the power had not been cut. */
export const everything = choice('everything was kept', newest, newest)

/** What is hardest on a program that synchronises too little. */
export function severeChoices(disk: Disk): NamedChoice[] {
  const journal = until(disk.namesUntil)
  return [
    choice('nothing was kept that was not synchronised', oldest, oldest),
    choice('only the data were kept', oldest, newest),
    choice('only the names were kept', newest, oldest),
    choice('only the data were kept, with a journal', journal, newest),
    everything,
  ]
}

/** One name or the data of one file differ from all others. */
export function singleChoices(disk: Disk): NamedChoice[] {
  const { names, files } = disk.pending
  const pairs = [
    ['was lost', newest, oldest],
    ['was kept', oldest, newest],
  ] as const
  return pairs.flatMap(([what, others, own]) => [
    ...names.map(one => choice(`one name ${what}`, cell => (Object.is(cell, one) ? own : others)(cell), others)),
    ...files.map(one => ({
      title: `one file ${what}`,
      name: others,
      size: (cell: Cell<number>, file: DiskFile) => (file === one ? own : others)(cell),
      block: (cell: Cell<Buffer | undefined>, file: DiskFile) => (file === one ? own : others)(cell),
    })),
  ])
}

/** What a disk holds where nothing was written yet: with a journal zeros, without one remains of other files. */
const REMAINS = Buffer.alloc(SECTOR * 8, 'remains of another file ')

export function randomChoice(disk: Disk, random: Random): NamedChoice {
  const kept = random.below(101)
  const some: Pick = cell => (random.chance(kept) ? cell.last : random.pick(cell.versions).value)
  const hasJournal = random.chance(50)
  const journal = until(disk.namesUntil + random.below(disk.calls - disk.namesUntil))
  const block = (cell: Cell<Buffer | undefined>): Buffer | undefined => some(cell) ?? (hasJournal ? undefined : REMAINS)
  return {
    title: hasJournal ? 'by chance, with a journal' : 'by chance',
    name: hasJournal ? journal : some,
    size: some,
    block: cell => (cell.versions.length > 1 && random.chance(20) ? torn(() => block(cell), random) : block(cell)),
  }
}

/** Each sector is of a version of its own. */
function torn(draw: () => Buffer | undefined, random: Random): Buffer {
  const whole = Buffer.alloc(REMAINS.length)
  const drafts = [draw(), draw()]
  for (let at = 0; at < whole.length; at += SECTOR) drafts[random.below(2)]?.copy(whole, at, at, at + SECTOR)
  return whole
}
