import { coreTables, type Layout } from '../backup/tables.ts'
import { accountSteps } from '../accounts/schema-steps.ts'
import { searchSteps } from '../search/tables.ts'
import { changeLogSteps } from '../stores/change-log.ts'
import { commonSteps } from '../stores/schema.ts'
import type { Migration } from '../stores/migrations.ts'
import { features } from '../features/features.ts'
import type { System } from '../base/system.ts'
import type { Settings } from '../config/settings.ts'
import * as core from '../core/stores.ts'

/**
 * All steps of the schema, in the order in which a store takes them. Each module with tables exports its own
 * steps.
 */
export const schema: readonly Migration[] = [
  ...commonSteps,
  ...accountSteps,
  ...features.flatMap(({ schemaSteps }) => schemaSteps),
  ...searchSteps,
  ...changeLogSteps,
].sort((a, b) => a.id - b.id)

/** What a copy of a store is made of. */
export const layout: Layout = { steps: schema, tables: [...coreTables, ...features.flatMap(({ tables }) => tables)] }

export const newestSchema = schema.at(-1)?.id ?? 0

/** Opens the stores of a service, with all steps of the schema. With a database file the folder is locked. @throws {StartupError} */
export const openStores = (
  settings: Settings,
  system: System,
  opening: Omit<core.Opening, 'schema'> = {},
): Promise<core.Stores> => core.openStores(settings, system, { ...opening, schema })
