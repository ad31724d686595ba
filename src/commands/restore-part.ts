import { withPart } from '../assembly/backup-part.ts'
import type { OpenedBackup } from '../assembly/backup-place.ts'
import type { OperatorStore } from '../assembly/operator.ts'
import { findContextIn } from '../backup/part.ts'
import { Conflict, InvalidInput } from '../base/errors.ts'
import type { Settings } from '../config/settings.ts'
import { requireOrdinary } from '../content/archive/export.ts'
import { findContext } from '../content/contexts.ts'
import { findEntry, isIdFree } from '../content/entry-records.ts'
import { membersBelow } from '../content/list-records.ts'
import { BaseAddress } from '../http/base-address.ts'
import { isList } from '../model/entry.ts'
import { UNLIMITED } from '../base/units.ts'
import { print } from './command.ts'
import { count } from './copied.ts'
import { statusOf } from './operator-command.ts'

/** What is to come back: a context, or one entry of it. */
export interface WantedPart {
  /** Id or name. */
  readonly context: string
  readonly entry: string | undefined
  /** Whether it may take the place of what is there. */
  readonly replaces: boolean
}

/** Brings a part of a backup back into a store that may be in use. Resolves to the exit status. */
export async function restorePart(settings: Settings, backup: OpenedBackup, wanted: WantedPart): Promise<number> {
  return await statusOf('restore', settings, store => restoreInto(store, settings, backup, wanted))
}

async function restoreInto(
  store: OperatorStore,
  settings: Settings,
  { source, created }: OpenedBackup,
  wanted: WantedPart,
): Promise<void> {
  const context = await findContextIn(source, wanted.context)
  if (context === undefined) throw absent(`context "${wanted.context}"`, created)
  requireOrdinary(context)
  await withPart(settings, source, context, async ({ database, ledger, caller, exports }) => {
    // The same address on both sides, so that it does not matter which one.
    const form = new BaseAddress(settings['service.baseurl.folder'] ?? 'http://127.0.0.1/')
    const archive = async (only?: ReadonlySet<string>) => {
      const { open } = await exports.export(caller, context, { metadataOnly: false, form, only })
      return { declaredSize: undefined, open, signal: new AbortController().signal }
    }
    if (wanted.entry !== undefined) {
      const id = wanted.entry
      const only = await entriesToRestore(store, database, { context, id, created })
      await requireFree(store, { context, id }, wanted.replaces)
      const replaced = { id, replaces: wanted.replaces, form }
      const entries = await store.entryRestore.restore(store.caller, context, await archive(only), replaced)
      return print(`${context}/${id} is as it was on ${created}: ${count(entries, 'entry', 'entries')}.`)
    }
    const isNew = (await findContext(store.database, context)) === undefined
    if (!isNew && !wanted.replaces) {
      const detail = `There is a context "${context}". With --replace its whole content is replaced by that of the backup.`
      throw new Conflict('id-taken', detail)
    }
    if (isNew) await store.contextRestore.open(store.caller, context, database)
    try {
      const usage = await ledger.usage.find(database, { kind: 'context', id: context })
      if (isNew && usage) await restoreQuota(store, context, usage)
      const options = { form, isSameStore: true, groups: new Map<string, string>() }
      const { entries, files, bytes } = await store.imports.import(store.caller, context, await archive(), options)
      print(
        `The context ${context} is as it was on ${created}: ${count(entries, 'entry', 'entries')}, ${count(files, 'file')} with ${count(bytes, 'byte')}.`,
      )
    } catch (error) {
      if (isNew) await store.entries.delete(store.caller, { context: '_contexts', entry: context }, () => {})
      throw error
    }
  })
}

const absent = (what: string, created: string): InvalidInput =>
  new InvalidInput('invalid-id', `There is no ${what} in the backup of ${created}.`)

/** The entry, and what was in it and exists no more. @throws {InvalidInput} */
async function entriesToRestore(
  store: OperatorStore,
  backup: OperatorStore['database'],
  { context, id, created }: { readonly context: string; readonly id: string; readonly created: string },
): Promise<ReadonlySet<string>> {
  const entry = await findEntry(backup, { context, id })
  if (!entry) throw absent(`entry "${id}" in context ${context}`, created)
  const only = new Set([id])
  const below = isList(entry) ? await membersBelow(backup, entry, 'all') : []
  for (const member of below) if (await isIdFree(store.database, member)) only.add(member.id)
  return only
}

/** Before anything is read from the backup. @throws {Conflict} */
async function requireFree(
  { database }: OperatorStore,
  address: { readonly context: string; readonly id: string },
  replaces: boolean,
): Promise<void> {
  const { context, id } = address
  if (!(await findContext(database, context))) {
    throw new Conflict('conflict', `There is no context ${context} in the store. Restore it first, with --context.`)
  }
  if (await findEntry(database, address)) {
    if (replaces) return
    throw new Conflict(
      'id-taken',
      `There is an entry "${id}" in context ${context}. With --replace it gets the old content.`,
    )
  }
  if (await isIdFree(database, address)) return
  const detail = `The entry "${id}" is in the trash of context ${context}: restore it there, or delete it from the trash first.`
  throw new Conflict('id-taken', detail)
}

async function restoreQuota(
  { ledger, quotas, caller }: OperatorStore,
  id: string,
  { limit, hasDefaultQuota }: { readonly limit: { bytes: number; files: number }; readonly hasDefaultQuota: boolean },
): Promise<void> {
  if (!ledger.enforced || (hasDefaultQuota && limit.files === UNLIMITED)) return
  const bytes = hasDefaultQuota ? null : limit.bytes
  await quotas.set(caller, { kind: 'context', id }, { bytes, files: limit.files === UNLIMITED ? null : limit.files })
}
