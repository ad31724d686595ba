import { FailurePage } from '../components/page.tsx'
import { Problem } from '../lib/api.ts'

/** For an address that is no page. */
export const NotFound = () => <FailurePage error={new Problem(404, { code: 'not-found' })} again={() => undefined} />
