import type { Log } from '../base/log.ts'
import type { Settings, SettingsOf } from '../config/settings.ts'

/** What a feature knows of a store that is not there, and may have been lost. @typeParam T the rows of its settings */
export interface LostStore<T = object> {
  /** What to do if the store was lost: a sentence that begins with a blank, or an empty text. */
  readonly advice: (settings: Settings & SettingsOf<T>) => string
  /** Names what can be restored, as a sentence; `undefined` if there is nothing. */
  readonly whatToRestore: (settings: Settings & SettingsOf<T>) => Promise<string | undefined>
  /** Called when a start has made a new store. @param place where the new store is, for people */
  readonly warnOfNewStore: (settings: Settings & SettingsOf<T>, log: Log, place: string) => Promise<void>
}

const known: LostStore[] = []

/** Adds what a feature knows. */
export const addLostStore = (lostStore: LostStore): void => void known.push(lostStore)

/** What to do before a new store takes the place of a lost one, to be appended to a message. */
export const adviceOnLoss = (settings: Settings): string => known.map(({ advice }) => advice(settings)).join('')

/** Names what can be restored, as far as that can be found out, to be appended to a message. */
export async function tellWhatToRestore(settings: Settings): Promise<string> {
  const found = await Promise.all(known.map(({ whatToRestore }) => whatToRestore(settings).catch(() => undefined)))
  return found.map(text => (text === undefined ? '' : ` ${text}`)).join('')
}

/** Logs why a store that a start has just made may have taken the place of a lost one. */
export async function warnOfNewStore(settings: Settings, log: Log, place: string): Promise<void> {
  for (const one of known) await one.warnOfNewStore(settings, log, place)
}
