import type { Messages } from './en.ts'
import { account } from './sv/account.ts'
import { common } from './sv/common.ts'
import { files } from './sv/files.ts'

/** All that is said, in Swedish. */
export const sv: Messages = { ...common, ...account, ...files }
