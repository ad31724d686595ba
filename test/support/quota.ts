import type { Payers, QuotaOptions } from '../../src/files/quota-usage.ts'
import type { Queries } from '../../src/stores/database.ts'
import { sql } from '../../src/stores/sql.ts'

/** Options of a ledger whose contexts have this quota unless they have their own. */
export const quotas = (context = -1, others: Partial<QuotaOptions> = {}): QuotaOptions => ({
  enforced: true,
  defaults: { context, user: -1, providerUser: -1 },
  ...others,
})

/** Files that count for this context and for no user. */
export const inContext = (context: string): Payers => ({ context, user: null })

/** One more file of this size, or one less. */
export const oneFile = (bytes: number) => ({ bytes, files: 1 })

/** More or fewer bytes in as many files. */
export const sameFiles = (bytes: number) => ({ bytes, files: 0 })

/** What the row of a context says, in bytes. */
export async function usedBytes(queries: Queries, context: string): Promise<{ used?: number; reserved?: number }> {
  const row = await queries.get<{ used: number; reserved: number }>(
    sql`SELECT used, reserved FROM quota_usage WHERE kind = 'context' AND owner = ${context}`,
  )
  return { ...row }
}
