import { Audit, type AuditEntry } from '../accounts/audit.ts'
import type { Queries } from '../stores/database.ts'

/** The audit log of commands. Its rows name the command line, not the user whose rights it has. */
export class OperatorAudit extends Audit {
  override async insert(tx: Queries, entry: AuditEntry): Promise<void> {
    const { actorId: _actor, address: _address, detail, ...rest } = entry
    await super.insert(tx, { ...rest, detail: { ...detail, by: 'command' } })
  }

  override announce(): void {
    // Commands print for people.
  }
}
