import type { Messages } from './en.ts'
import { account } from './sv/account.ts'
import { admin } from './sv/admin.ts'
import { audit } from './sv/audit.ts'
import { common } from './sv/common.ts'
import { files } from './sv/files.ts'
import { sso } from './sv/sso.ts'

/** All that is said, in Swedish. */
export const sv: Messages = { ...common, ...account, ...files, ...admin, ...audit, ...sso }
