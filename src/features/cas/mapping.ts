import type { Mapping } from '../sso/mapping.ts'
import type { CasSettings } from './settings.ts'

/** What the attributes of the CAS server mean. */
export const casMapping = (settings: CasSettings): Mapping => ({
  groups: settings['service.auth.cas.groups-attribute'],
  prefix: settings['service.auth.cas.groups-prefix'],
  adminGroup: settings['service.auth.cas.admin-group'],
  provisions: settings['service.auth.cas.groups-auto-provisioning'],
  map: settings['service.auth.cas.map.<target>'],
  required: settings['service.auth.cas.required.<attribute>'],
})
