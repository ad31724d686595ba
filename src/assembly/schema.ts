import { factorSteps } from '../accounts/factors/schema-steps.ts'
import { accountSteps } from '../accounts/schema-steps.ts'
import { linkSteps } from '../content/links/schema-steps.ts'
import { ssoSteps } from '../sso/schema-steps.ts'
import { searchSteps } from '../search/tables.ts'
import { changeLogSteps } from '../stores/change-log.ts'
import { commonSteps } from '../stores/schema.ts'
import type { Migration } from '../stores/migrations.ts'

/**
 * All steps of the schema, in the order in which a store takes them. Each module with tables exports its own
 * steps.
 */
export const schema: readonly Migration[] = [
  ...commonSteps,
  ...accountSteps,
  ...factorSteps,
  ...linkSteps,
  ...ssoSteps,
  ...searchSteps,
  ...changeLogSteps,
].sort((a, b) => a.id - b.id)
