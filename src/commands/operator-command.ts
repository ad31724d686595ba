import { type OperatorStore, withStore } from './store-for-commands.ts'
import type { Command, StoreOpener } from '../core/command.ts'
import * as core from '../core/operator-command.ts'
import { settingsFrom } from './settings-options.ts'

/** How commands outside features open a store: with all services that a command may use. */
export const opener: StoreOpener<OperatorStore> = {
  settingsFrom: options => settingsFrom(options).loaded.settings,
  withStore,
}

type Verb = core.Verb<OperatorStore>

/** A command whose first word says what to do. */
export const family = (name: string, summary: string, verbs: Readonly<Record<string, Verb>>): Command =>
  core.family(opener, name, summary, verbs)

/** A command that does one thing. */
export const single = (name: string, summary: string, verb: Verb): Command => core.single(opener, name, summary, verb)
